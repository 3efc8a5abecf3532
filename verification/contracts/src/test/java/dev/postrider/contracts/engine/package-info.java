/** What one database can get wrong and the contract cannot say. */
@NullMarked
package dev.postrider.contracts.engine;

import org.jspecify.annotations.NullMarked;
