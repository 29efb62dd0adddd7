import { sequence } from '../der/der-types.ts';
import { type GeneralName, generalName } from '../names/general-name.ts';
import { EXTENSION, type Extension, extension } from './extension.ts';

/** Critical when the subject is empty (RFC 5280 §4.2.1.6). */
export const subjectAltName = (names: readonly GeneralName[], critical = false): Extension =>
  extension(EXTENSION.subjectAltName, sequence(...names.map(generalName)), critical);
