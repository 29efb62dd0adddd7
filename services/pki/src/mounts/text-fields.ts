/** Parameters of names, subjects and references, whose length is limited. */
import { type Field, field, type Timestamp } from '@keelson/secrets-api';

/** Longer than any name that relying parties accept; URIs are the longest of them. */
export const MAX_TEXT_LENGTH = 2048;

/** The limit of all texts of a list together; more than a thousand names. */
export const MAX_LIST_LENGTH = 65_536;

/** A text; empty if it is not given. */
export const textField = (description: string) =>
  field.string({ default: '', description, maxLength: MAX_TEXT_LENGTH });

/** A list of texts; empty if it is not given. */
export const listField = (description: string) =>
  field.commaList({ default: [], description, maxLength: MAX_LIST_LENGTH });

/** A time. An empty text counts as absent, like that of text fields. */
export const timeField = (description: string): Field<Timestamp | undefined> => {
  const time = field.time({ description });
  return { ...time, read: (name, raw) => time.read(name, raw === '' ? undefined : raw) };
};
