/** Conversion of ECDSA signatures between the forms of JSON Web Signatures and of certificates. */
import { sequence, unsignedInteger } from '../der/der-types.ts';
import { encodeDer } from '../der/der-writer.ts';

/**
 * Converts the concatenated numbers of RFC 7518 §3.4 to the DER of RFC 3279 §2.2.3. node:crypto
 * also verifies the former directly, but a verification then takes a third longer.
 * @returns undefined when the length does not match coordinates of `coordinateBytes`
 */
export const ecdsaSignatureToDer = (
  signature: Uint8Array,
  coordinateBytes: number,
): Uint8Array | undefined =>
  signature.byteLength === 2 * coordinateBytes
    ? encodeDer(
        sequence(
          unsignedInteger(signature.subarray(0, coordinateBytes)),
          unsignedInteger(signature.subarray(coordinateBytes)),
        ),
      )
    : undefined;
