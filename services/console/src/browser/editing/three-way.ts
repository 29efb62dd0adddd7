/**
 * The three versions of a thing that is being edited: as it was when the form was drawn, as the person left the form,
 * and as it is stored by now.
 */

export type FieldValue = string | boolean;

/** Values of a form's fields, by field name. */
export type FieldValues = Readonly<Record<string, FieldValue>>;

export interface Compared<Values> {
  /** The fields that have to be stored, because they are not stored yet. */
  readonly changed: Partial<Values>;
  /** The names of the changed fields in which somebody else has meanwhile stored another value. */
  readonly conflicts: readonly (keyof Values & string)[];
}

/**
 * @param mine the fields that the person has changed, and no others
 * @param theirs what is stored by now
 */
export const compare = <Values extends FieldValues>(
  base: Values,
  mine: Partial<Values>,
  theirs: Values,
): Compared<Values> => {
  const differing = Object.keys(mine).filter((name) => mine[name] !== theirs[name]);
  return {
    changed: Object.fromEntries(differing.map((name) => [name, mine[name]])) as Partial<Values>,
    conflicts: differing.filter((name) => theirs[name] !== base[name]),
  };
};
