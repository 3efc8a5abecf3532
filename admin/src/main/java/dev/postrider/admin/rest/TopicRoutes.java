package dev.postrider.admin.rest;

import dev.postrider.admin.Admin;
import dev.postrider.admin.LaneStatus;
import dev.postrider.admin.Repair;
import dev.postrider.admin.TopicStatus;
import dev.postrider.admin.rest.Route.Call;
import java.util.List;

/** The routes about topics. */
final class TopicRoutes {

    static final List<Field<?>> CHANGE = List.of(CommonFields.TOPIC, CommonFields.REASON);

    private final Admin admin;

    TopicRoutes(Admin admin) {
        this.admin = admin;
    }

    Page<TopicStatus> list(Call call) {
        return Page.whole(admin.status());
    }

    Page<LaneStatus> lanes(Call call) {
        return Page.whole(admin.lanes(call.input().require(CommonFields.TOPIC)));
    }

    Shapes.Done pause(Call call) {
        admin.pause(call.input().require(CommonFields.TOPIC), call.change());
        return new Shapes.Done();
    }

    Shapes.Done resume(Call call) {
        admin.resume(call.input().require(CommonFields.TOPIC), call.change());
        return new Shapes.Done();
    }

    Shapes.Done remove(Call call) {
        Repair repair = admin.remove(call.input().require(CommonFields.TOPIC), call.change());
        return Repairs.done(repair, "topic");
    }
}
