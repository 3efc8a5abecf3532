@NullMarked
package dev.postrider.testkit.database;

import org.jspecify.annotations.NullMarked;
