package dev.postrider.contracts;

import dev.postrider.testkit.database.Engine;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass(name = "{0}")
@EnumSource(Engine.class)
final class EncryptionTest extends EncryptionContract {

    private final Engine engine;

    EncryptionTest(Engine engine) {
        this.engine = engine;
    }

    @Override
    protected DataSource dataSource() {
        return ContractDatabases.of(engine);
    }

    @Override
    protected boolean isConcurrent() {
        return engine != Engine.H2;
    }
}
