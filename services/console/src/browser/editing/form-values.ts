/** The fields of a form in the document: their values, and their words for people. */
import type { FieldValue, FieldValues } from './three-way.ts';

/** Prefix of the fields with which a person decides a conflict. */
export const DECISION = 'decision:';

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

const fieldsIn = (form: HTMLFormElement): readonly Field[] =>
  [...form.elements].filter(
    (one): one is Field =>
      (one instanceof HTMLInputElement ||
        one instanceof HTMLTextAreaElement ||
        one instanceof HTMLSelectElement) &&
      one.name !== '' &&
      !one.name.startsWith(DECISION),
  );

const valueOf = (field: Field): FieldValue | undefined => {
  if (!(field instanceof HTMLInputElement)) return field.value;
  if (field.type === 'checkbox') return field.checked;
  return field.type === 'radio' && !field.checked ? undefined : field.value;
};

/**
 * The values of the fields that the form shows; a disabled field is left out.
 * @throws Error for a field that is no member of `base`, because nobody would store it
 */
export const valuesIn = <Values extends FieldValues>(
  form: HTMLFormElement,
  base: Values,
): Partial<Values> => {
  const values: Record<string, FieldValue> = {};
  for (const field of fieldsIn(form)) {
    if (typeof base[field.name] === 'undefined')
      throw new Error(`The form does not know its field ${field.name}.`);
    const value = field.disabled ? undefined : valueOf(field);
    if (value !== undefined) values[field.name] = value;
  }
  return values as Partial<Values>;
};

/**
 * The fields that the person has changed.
 * @param drawn what the form's fields had when they were drawn, which differs from `base` where a field cannot show a
 *   value: a text field leaves out line breaks
 * @param carried fields that were changed before the form was drawn
 */
export const enteredIn = <Values extends FieldValues>(
  form: HTMLFormElement,
  base: Values,
  drawn: Partial<Values>,
  carried: readonly string[],
): Partial<Values> =>
  Object.fromEntries(
    Object.entries(valuesIn(form, base)).filter(
      ([name, value]) => carried.includes(name) || value !== (drawn[name] ?? base[name]),
    ),
  ) as Partial<Values>;

const fieldsNamed = (form: HTMLFormElement, name: string): readonly Field[] =>
  fieldsIn(form).filter((field) => field.name === name);

/** The focus of a form, which its fields lose when they are drawn again. */
export interface FieldFocus {
  readonly restoreIn: (form: HTMLFormElement) => void;
}

/** Undefined while no field of the form has the focus. */
export const focusIn = (form: HTMLFormElement): FieldFocus | undefined => {
  const field = fieldsIn(form).find((one) => one === document.activeElement);
  if (field === undefined) return undefined;
  const at = fieldsNamed(form, field.name).indexOf(field);
  const [start, end] =
    field instanceof HTMLSelectElement ? [null, null] : [field.selectionStart, field.selectionEnd];
  return {
    restoreIn: (drawn) => {
      const same = fieldsNamed(drawn, field.name)[at];
      same?.focus();
      if (start !== null && !(same instanceof HTMLSelectElement))
        same?.setSelectionRange(start, end);
    },
  };
};

/** The text of a label, without the texts of what is inside it, such as the options of a select. */
const ownText = (element: Element | null | undefined): string =>
  [...(element?.childNodes ?? [])]
    .filter((node) => node.nodeType === Node.TEXT_NODE)
    .map(({ data }: ChildNode & { data?: string }) => data ?? '')
    .join('')
    .trim();

/** The label of a field; that of the group for radio buttons. */
export const labelOf = (form: HTMLFormElement, name: string): string => {
  const [field] = fieldsNamed(form, name);
  const label =
    field?.type === 'radio'
      ? field.closest('fieldset')?.querySelector('legend')
      : field?.labels?.[0];
  return ownText(label) || name;
};

/** A value of a field as the form shows it. */
export const shownIn = (form: HTMLFormElement, name: string, value: FieldValue): string => {
  if (typeof value === 'boolean') return value ? 'ticked' : 'not ticked';
  const fields = fieldsNamed(form, name);
  const [first] = fields;
  const chosen =
    first instanceof HTMLSelectElement
      ? [...first.options].find((option) => option.value === value)?.text
      : fields.find((field) => field.type === 'radio' && field.value === value)?.labels?.[0]
          ?.textContent;
  return (chosen?.trim() ?? value) || '(empty)';
};
