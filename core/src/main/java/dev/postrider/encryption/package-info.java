/**
 * The encryption of payloads: the interface that a cipher implements, and a cipher that uses AES-GCM with keys of the application.
 * Postrider calls the cipher before a payload is written and after it is read, so that the database never has the clear text.
 */
@NullMarked
package dev.postrider.encryption;

import org.jspecify.annotations.NullMarked;
