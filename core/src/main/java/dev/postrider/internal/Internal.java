package dev.postrider.internal;

import static java.lang.annotation.ElementType.METHOD;
import static java.lang.annotation.ElementType.TYPE;

import java.lang.annotation.Documented;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a type or a method that is public only for other packages of Postrider. It is not API and may change at any time. */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({TYPE, METHOD})
public @interface Internal {}
