/** Effects of the fields of request documents, for the table of accepted fields. */

/** The resource has the value, or another one that follows from it. */
interface Shown {
  readonly kind: 'shown';
  readonly value: unknown;
  readonly shown: unknown;
  /** Other attributes that the request must set for the value to be valid. */
  readonly additional: object;
  /** Null means that the field is not given. */
  readonly isKeptAtNull: boolean;
}
/** 422, with the pointer of the field. */
interface Refused {
  readonly kind: 'refused';
  readonly value: unknown;
}
/** The resource has the value, and `meta.warnings` says that it has no effect. */
interface Warned {
  readonly kind: 'warned';
  readonly value: unknown;
  readonly additional: object;
}
/** The effect is not in the resource; a test of this file, which names the field, shows it. */
interface Elsewhere {
  readonly kind: 'elsewhere';
  readonly file: string;
  readonly text: string | undefined;
}
export type Effect = Shown | Refused | Warned | Elsewhere;

export const shown = (value: unknown, became: unknown = value, additional: object = {}): Shown => ({
  kind: 'shown',
  value,
  shown: became,
  additional,
  isKeptAtNull: false,
});
export const keptAtNull = (value: unknown): Shown => ({ ...shown(value), isKeptAtNull: true });
export const refused = (value: unknown): Refused => ({ kind: 'refused', value });
export const warned = (value: unknown, additional: object = {}): Warned => ({
  kind: 'warned',
  value,
  additional,
});
/** @param file below the folder of the service */
export const elsewhere = (file: string, text?: string): Elsewhere => ({
  kind: 'elsewhere',
  file,
  text,
});

export interface FieldGroup {
  /** The routes whose documents have these fields, some of them or all. */
  readonly routes: readonly string[];
  /** The attributes of a valid creation. */
  readonly least?: object;
  /** The requests that the values are tried with. */
  readonly triedOn?: readonly ('create' | 'update')[];
  readonly fields: Readonly<Record<string, Effect>>;
}

export const ON = '/organizations/{organization_name}';
export const W = '/workspaces/{workspace_id}';
