/**
 * Degenerate CMS messages that carry only certificates (RFC 5272 §4.1, RFC 5652 §5), as EST returns
 * them.
 */
import { contextTag, explicit, integer, sequence, setOf } from './der/der-types.ts';
import { constructed, encodeDer } from './der/der-writer.ts';
import { objectIdentifier } from './der/object-identifier.ts';

const SIGNED_DATA = '1.2.840.113549.1.7.2';
const DATA = '1.2.840.113549.1.7.1';

/** A "certs-only" message, DER; the certificates keep their order. */
export const encodeCertsOnly = (certificates: readonly Uint8Array[]): Uint8Array =>
  encodeDer(
    sequence(
      objectIdentifier(SIGNED_DATA),
      explicit(
        0,
        sequence(
          integer(1),
          setOf([]),
          sequence(objectIdentifier(DATA)),
          constructed(contextTag(0, 'constructed'), certificates),
          setOf([]),
        ),
      ),
    ),
  );
