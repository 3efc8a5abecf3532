package dev.postrider.jdbc.sql;

import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.io.Writer;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Array;
import java.sql.Blob;
import java.sql.CallableStatement;
import java.sql.Clob;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.NClob;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.Ref;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLXML;
import java.sql.Statement;
import java.sql.Struct;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A statement of a {@link GuardedConnection}, or an object that leads to it, as user code sees it: a result set, metadata, a large value.
 * Its connection is the guard. It reports its errors to the guard, refuses a text that ends the transaction, and has the transaction proved
 * after a text that could have ended it. It is a dynamic proxy, because only a few of the four hundred methods of the interfaces matter
 * (decision 32).
 */
final class GuardedStatement implements InvocationHandler {

    /** The interfaces whose methods may ask the server. */
    private static final List<Class<?>> INTERFACES = List.of(
            ResultSet.class,
            Statement.class,
            PreparedStatement.class,
            CallableStatement.class,
            ResultSetMetaData.class,
            ParameterMetaData.class,
            DatabaseMetaData.class,
            Array.class,
            Blob.class,
            Clob.class,
            NClob.class,
            SQLXML.class,
            Struct.class,
            Ref.class);

    /** Streams that have read everything. */
    private static final Set<String> READ_STREAMS =
            Set.of("java.io.ByteArrayInputStream", "java.io.CharArrayReader", "java.io.StringReader");

    /** The packages of plain values. The last two are of PostgreSQL's driver. */
    private static final List<String> VALUES = List.of("java.", "org.postgresql.util.", "org.postgresql.geometric.");

    private final Object target;
    private final GuardedConnection guard;

    /** For a result set, the statement that user code got it from; else null. */
    private final @Nullable Object statement;

    /** Whether the text of a prepared statement, or a text of the batch, could end the transaction. */
    private boolean unclear;

    private GuardedStatement(Object target, GuardedConnection guard, @Nullable Object statement, boolean unclear) {
        this.target = target;
        this.guard = guard;
        this.statement = statement;
        this.unclear = unclear;
    }

    /** @param unclear whether the text of a prepared statement could end the transaction */
    static <T> T guarded(Class<T> type, T target, GuardedConnection guard, boolean unclear) {
        return type.cast(proxy(new GuardedStatement(target, guard, null, unclear), type));
    }

    private static Object proxy(GuardedStatement handler, Class<?>... types) {
        return Proxy.newProxyInstance(GuardedStatement.class.getClassLoader(), types, handler);
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
        if (name.equals("unwrap")) {
            return unwrapped(proxy, method, arguments, first);
        }
        boolean executes = name.startsWith("execute");
        boolean isUnclear = isUnclear(name, first, executes);
        if (executes) {
            guard.requireUsable();
        }
        return result(proxy, first, isUnclear ? proved(method, arguments) : call(method, arguments));
    }

    private @Nullable Object unwrapped(
            Object proxy, Method method, Object @Nullable [] arguments, @Nullable Object first) throws Throwable {
        if (first instanceof Class<?> type && type.isInstance(proxy)) {
            return proxy;
        }
        guard.unwrapped();
        return call(method, arguments);
    }

    /** Whether the call runs a text that could end the transaction. */
    private boolean isUnclear(String name, @Nullable Object first, boolean executes) {
        if (first instanceof String sql && (executes || name.equals("addBatch"))) {
            boolean isUnclear = guard.isUnclear(sql);
            unclear |= isUnclear && !executes;
            return isUnclear && executes;
        }
        return executes && unclear;
    }

    private @Nullable Object proved(Method method, Object @Nullable [] arguments) throws Throwable {
        guard.beforeUnclear();
        Object result;
        try {
            result = call(method, arguments);
        } catch (SQLException e) {
            guard.afterUnclear(e);
            throw e;
        }
        guard.afterUnclear(null);
        return result;
    }

    private @Nullable Object call(Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, ofTheDriver(arguments));
        } catch (InvocationTargetException e) {
            Throwable thrown = e.getCause();
            if (thrown instanceof SQLException failure) {
                guard.failed(failure);
            }
            throw thrown;
        }
    }

    /** Replaces an array or a large object by that of the driver, which knows only its own. The array of arguments belongs to this call. */
    private static Object @Nullable [] ofTheDriver(Object @Nullable [] arguments) {
        for (int i = 0; arguments != null && i < arguments.length; i++) {
            if (arguments[i] instanceof Proxy proxy
                    && Proxy.getInvocationHandler(proxy) instanceof GuardedStatement guarded) {
                arguments[i] = guarded.target;
            }
        }
        return arguments;
    }

    private @Nullable Object result(Object proxy, @Nullable Object first, @Nullable Object result) {
        if (result == null || isValue(result)) {
            return result;
        }
        if (result instanceof Connection) {
            return guard;
        }
        Class<?>[] types =
                INTERFACES.stream().filter(type -> type.isInstance(result)).toArray(Class<?>[]::new);
        boolean fits = !(first instanceof Class<?> wanted) || List.of(types).contains(wanted);
        if (types.length == 0 || !fits) {
            guard.mayHaveFailed(); // The guard does not see the errors of the driver's own object.
            return result;
        }
        Object from = result instanceof ResultSet && proxy instanceof Statement ? proxy : null;
        return proxy(new GuardedStatement(result, guard, from, false), types);
    }

    private static boolean isValue(Object result) {
        if (result instanceof InputStream
                || result instanceof Reader
                || result instanceof OutputStream
                || result instanceof Writer) {
            return READ_STREAMS.contains(result.getClass().getName());
        }
        Class<?> type = result.getClass();
        while (type.isArray()) {
            type = type.getComponentType();
        }
        String name = type.getName();
        return type.isPrimitive()
                || result instanceof Throwable
                || VALUES.stream().anyMatch(name::startsWith);
    }
}
