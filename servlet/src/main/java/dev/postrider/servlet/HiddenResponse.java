package dev.postrider.servlet;

import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/**
 * Hides Tomcat's own response from those who unwrap a captured one. After a forward, Tomcat looks for its response behind all
 * wrappers and lets nothing through it any more (the default of Tomcat 11), while the answer has yet to be sent. Other containers need
 * to find theirs, so theirs is not hidden.
 */
final class HiddenResponse {

    private static final String TOMCAT = "org.apache.catalina.connector.ResponseFacade";

    private HiddenResponse() {}

    /** This response, or one that does the same and does not tell whose it is. */
    static HttpServletResponse of(HttpServletResponse response) {
        return isTomcats(response)
                ? (HttpServletResponse) Proxy.newProxyInstance(
                        HttpServletResponse.class.getClassLoader(),
                        new Class<?>[] {HttpServletResponse.class},
                        (proxy, method, arguments) -> pass(response, method, arguments))
                : response;
    }

    private static boolean isTomcats(ServletResponse response) {
        ServletResponse base = response;
        while (base instanceof ServletResponseWrapper wrapper) {
            base = wrapper.getResponse();
        }
        return base.getClass().getName().equals(TOMCAT);
    }

    private static @Nullable Object pass(HttpServletResponse response, Method method, Object[] arguments)
            throws Throwable {
        try {
            return method.invoke(response, arguments);
        } catch (InvocationTargetException e) {
            throw e.getTargetException();
        }
    }
}
