/** Effects of the fields of requests to sys, for the table of accepted fields. */

/** Where the effect of a field is shown: a test that contains the text. */
export interface Proof {
  /** Below the folder of the service, or of the repository when it begins with `services/` or `libs/`. */
  readonly file: string;
  readonly text: string;
}
/** The description of the field says so, and so does the documentation made from it. */
export const RETURNED_ONLY = 'returned only';

/** The value can be read, and has the effect that the proof shows. */
interface Shown {
  readonly kind: 'shown';
  readonly value: unknown;
  /** Member of the document and its value. */
  readonly as: readonly [string, unknown];
  readonly by: Proof | typeof RETURNED_ONLY;
  /** Other fields without which the value is not valid. */
  readonly additional: object;
}
/** 400, and the text names the field. */
interface Refused {
  readonly kind: 'refused';
  readonly value: unknown;
}
/** 200 with a warning that begins with the name of the field. */
interface Warned {
  readonly kind: 'warned';
  readonly value: unknown;
}
/** The effect is not in a document. */
interface Elsewhere {
  readonly kind: 'elsewhere';
  readonly by: Proof;
}
export type Effect = Shown | Refused | Warned | Elsewhere;

export const proof = (file: string, text: string): Proof => ({ file, text });

/** @param as member of the document, if it is not the name of the field, and its value, if it differs */
export const shown = (
  value: unknown,
  by: Shown['by'],
  as: readonly [string, unknown] = ['', value],
  additional: object = {},
): Shown => ({ kind: 'shown', value, as, by, additional });
export const refused = (value: unknown): Refused => ({ kind: 'refused', value });
export const warned = (value: unknown): Warned => ({ kind: 'warned', value });
export const elsewhere = (file: string, text: string): Elsewhere => ({
  kind: 'elsewhere',
  by: { file, text },
});

/** Requests with the same fields. */
export interface FieldGroup {
  readonly routes: readonly string[];
  /** Fields that every request of the group must have. */
  readonly least?: object;
  readonly fields: Readonly<Record<string, Effect>>;
}
