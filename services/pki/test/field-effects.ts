/** Effects of the parameters of requests, for the table of accepted fields. */

/** A setting: reading it gives `shown`, and the tests of `file`, which name it, show what it does. */
interface Kept {
  readonly kind: 'kept';
  readonly value: unknown;
  readonly shown: unknown;
  /** Other settings that must be in the request for the value to be valid. */
  readonly additional: object;
  readonly file: string;
}
/** A setting that is returned, with a warning that it has no effect. */
interface Warned {
  readonly kind: 'warned';
  readonly value: unknown;
  readonly additional: object;
}
/** 400 with a text that names the field. */
interface Refused {
  readonly kind: 'refused';
  readonly value: unknown;
}
/** The answer has `text` with the value, and not without it; or the other way round if `isWithout`. */
interface Made {
  readonly kind: 'made';
  readonly value: unknown;
  readonly text: RegExp;
  readonly isWithout: boolean;
}
/** The tests of `file`, which name the field, show its effect. */
interface Elsewhere {
  readonly kind: 'elsewhere';
  readonly file: string;
}
export type Effect = Kept | Warned | Refused | Made | Elsewhere;

/** @param file below the folder of the service */
export const kept = (
  value: unknown,
  file: string,
  {
    shown = value,
    additional = {},
  }: { readonly shown?: unknown; readonly additional?: object } = {},
): Kept => ({ kind: 'kept', value, shown, additional, file });
export const warned = (value: unknown, additional: object = {}): Warned => ({
  kind: 'warned',
  value,
  additional,
});
export const refused = (value: unknown): Refused => ({ kind: 'refused', value });
export const made = (value: unknown, text: RegExp): Made => ({
  kind: 'made',
  value,
  text,
  isWithout: false,
});
export const madeWithout = (value: unknown, text: RegExp): Made => ({
  kind: 'made',
  value,
  text,
  isWithout: true,
});
/** @param file below the folder of the service */
export const elsewhere = (file: string): Elsewhere => ({ kind: 'elsewhere', file });

export interface FieldGroup {
  /** The paths whose bodies have these fields, some of them or all. */
  readonly paths: readonly string[];
  /** The path that the values are tried at, if it is not the first. */
  readonly triedAt?: string;
  readonly fields: Readonly<Record<string, Effect>>;
}
