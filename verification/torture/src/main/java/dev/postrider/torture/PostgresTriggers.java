package dev.postrider.torture;

import java.util.List;

/** Triggers that record changes of messages and commands on PostgreSQL. */
final class PostgresTriggers {

    private static final String MICROS = """
            CREATE FUNCTION torture_micros(timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
                SELECT floor(extract(epoch FROM $1) * 1000000)::bigint
            $$
            """;

    private static final String NOTE_MESSAGE = """
            CREATE FUNCTION torture_note() RETURNS trigger LANGUAGE plpgsql AS $$
            DECLARE
                kept record;
            BEGIN
                IF TG_OP = 'DELETE' THEN kept := OLD; ELSE kept := NEW; END IF;
                INSERT INTO torture_transition (at_micros, message_id, kind, from_state, to_state, token, lease_end)
                VALUES (torture_micros(clock_timestamp()), kept.id::text,
                        CASE WHEN kept.lane IS NULL THEN 'leased' ELSE 'laned' END,
                        CASE WHEN TG_OP <> 'INSERT' THEN OLD.state END, CASE WHEN TG_OP <> 'DELETE' THEN NEW.state END,
                        kept.lease_token::text, CASE WHEN TG_OP <> 'INSERT' THEN torture_micros(OLD.locked_until) END);
                RETURN NULL;
            END $$
            """;

    private static final String NOTE_COMMAND = """
            CREATE FUNCTION torture_note_command() RETURNS trigger LANGUAGE plpgsql AS $$
            DECLARE
                kept record;
            BEGIN
                IF TG_OP = 'DELETE' THEN kept := OLD; ELSE kept := NEW; END IF;
                INSERT INTO torture_command_transition
                    (at_micros, command_id, from_state, to_state, owner, fence, lease_end, key_end, uncertain)
                VALUES (torture_micros(clock_timestamp()), encode(kept.id, 'hex'),
                        CASE WHEN TG_OP <> 'INSERT' THEN OLD.state END, CASE WHEN TG_OP <> 'DELETE' THEN NEW.state END,
                        kept.owner::text, kept.fence,
                        CASE WHEN TG_OP <> 'INSERT' THEN torture_micros(OLD.lease_until) END,
                        CASE WHEN TG_OP <> 'INSERT' THEN torture_micros(OLD.key_expires_at) END,
                        CASE WHEN TG_OP <> 'INSERT' THEN OLD.uncertain_if_lost::int END);
                RETURN NULL;
            END $$
            """;

    static final List<String> ALL = List.of(MICROS, NOTE_MESSAGE, """
            CREATE TRIGGER torture_note_row AFTER INSERT OR DELETE ON postrider_message
            FOR EACH ROW EXECUTE FUNCTION torture_note()
            """, """
            CREATE TRIGGER torture_note_change AFTER UPDATE ON postrider_message FOR EACH ROW
            WHEN (OLD.state <> NEW.state OR OLD.lease_token IS DISTINCT FROM NEW.lease_token)
            EXECUTE FUNCTION torture_note()
            """, NOTE_COMMAND, """
            CREATE TRIGGER torture_note_row AFTER INSERT OR DELETE ON postrider_command
            FOR EACH ROW EXECUTE FUNCTION torture_note_command()
            """, """
            CREATE TRIGGER torture_note_change AFTER UPDATE ON postrider_command FOR EACH ROW
            WHEN (OLD.state <> NEW.state OR OLD.owner <> NEW.owner OR OLD.fence <> NEW.fence)
            EXECUTE FUNCTION torture_note_command()
            """);

    private PostgresTriggers() {}
}
