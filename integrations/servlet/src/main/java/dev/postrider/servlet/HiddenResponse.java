package dev.postrider.servlet;

import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/**
 * Hides Tomcat's own response behind a proxy, so that it cannot be found by unwrapping a captured response. After a
 * forward, Tomcat unwraps all wrappers and suspends its own response (the default in Tomcat 11), although the response
 * of the command is not sent yet. Other containers need access to their own response, so it is not hidden there.
 */
final class HiddenResponse {

    private static final String TOMCAT = "org.apache.catalina.connector.ResponseFacade";

    private HiddenResponse() {}

    /** This response, or a proxy that delegates to it and hides its class. */
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
