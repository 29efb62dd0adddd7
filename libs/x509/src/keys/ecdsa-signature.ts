/** ECDSA signatures as JSON Web Signatures hold them, and as certificates and node:crypto do. */
import { sequence, unsignedInteger } from '../der/der-types.ts';
import { encodeDer } from '../der/der-writer.ts';

/**
 * Both numbers at full length, one after the other (RFC 7518 §3.4), as the DER of RFC 3279 §2.2.3.
 * node:crypto verifies the former too, but to ask it for that costs a third of a verification more.
 * @returns undefined where the length is not that of a curve with coordinates of `coordinateBytes`
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
