package dev.postrider.contracts;

import dev.postrider.testkit.database.Engine;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass(name = "{0}")
@EnumSource(Engine.class)
final class RetentionTest extends RetentionContract {

    private final Engine engine;
    private @Nullable DataSource database;

    RetentionTest(Engine engine) {
        this.engine = engine;
    }

    @Override
    protected DataSource dataSource() {
        if (database == null) {
            database = ContractDatabases.unpooled(engine);
        }
        return database;
    }

    @Override
    protected boolean isConcurrent() {
        return engine != Engine.H2;
    }
}
