package dev.postrider.jdbc.sql;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A statement, its result set, or the metadata of a {@link GuardedConnection} as user code sees it. Its connection is the guard. It
 * reports its errors to the guard, and refuses a statement that ends the transaction. It is a dynamic proxy, because only a few of the
 * four hundred methods of the interfaces matter (decision 32).
 */
final class GuardedStatement implements InvocationHandler {

    /** Methods of result sets whose values read from the server later. */
    private static final Set<String> OWN_OBJECTS = Set.of(
            "getArray", "getBlob", "getClob", "getNClob", "getBinaryStream", "getCharacterStream", "getAsciiStream");

    private final Object target;
    private final GuardedConnection guard;

    /** For a result set, the statement that user code got it from; else null. */
    private final @Nullable Object statement;

    private GuardedStatement(Object target, GuardedConnection guard, @Nullable Object statement) {
        this.target = target;
        this.guard = guard;
        this.statement = statement;
    }

    static <T> T guarded(Class<T> type, T target, GuardedConnection guard) {
        return guarded(type, target, guard, null);
    }

    private static <T> T guarded(Class<T> type, T target, GuardedConnection guard, @Nullable Object statement) {
        return type.cast(Proxy.newProxyInstance(
                GuardedStatement.class.getClassLoader(),
                new Class<?>[] {type},
                new GuardedStatement(target, guard, statement)));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
        Object first = arguments == null || arguments.length == 0 ? null : arguments[0];
        String name = method.getName();
        if (name.equals("getConnection")) {
            return guard;
        }
        if (name.equals("getStatement") && statement != null) {
            return statement;
        }
        if (name.equals("equals")) {
            return proxy == first;
        }
        if (name.equals("unwrap") && first instanceof Class<?> type && type.isInstance(proxy)) {
            return proxy;
        }
        if (name.equals("unwrap") || OWN_OBJECTS.contains(name)) {
            guard.mayHaveFailed(); // The guard does not see the errors of the driver's own objects.
        }
        if (first instanceof String sql && runs(method)) {
            guard.refuseEnd(sql);
        }
        return result(proxy, method, call(method, arguments));
    }

    private @Nullable Object result(Object proxy, Method method, @Nullable Object result) {
        if (result instanceof ResultSet rows && method.getReturnType().isAssignableFrom(ResultSet.class)) {
            return guarded(ResultSet.class, rows, guard, proxy instanceof Statement ? proxy : null);
        }
        return result instanceof Statement found && method.getName().equals("getStatement")
                ? guarded(Statement.class, found, guard)
                : result;
    }

    private static boolean runs(Method method) {
        return method.getName().startsWith("execute") || method.getName().equals("addBatch");
    }

    private @Nullable Object call(Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            Throwable thrown = e.getCause();
            if (thrown instanceof SQLException failure) {
                guard.failed(failure);
            }
            throw thrown;
        }
    }
}
