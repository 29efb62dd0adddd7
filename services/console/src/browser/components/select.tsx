/** A select that adds its initial value as an option of that name if the options lack it. */
import { SelectField } from './fields.tsx';
export const Select = (props: {
  name: string;
  /** The value with which it begins. */
  value: string;
  options: readonly (readonly [value: string, words: string])[];
  required?: boolean;
  onChange?: (value: string) => void;
}) => {
  const { name, value, options, onChange } = props;
  const isKnown = options.some(([one]) => one === value);
  return (
    <SelectField
      name={name}
      required={props.required}
      defaultValue={value}
      onChange={({ target }) => onChange?.(target.value)}
    >
      {[...(isKnown ? [] : [[value, value] as const]), ...options].map(([one, words]) => (
        <option key={one} value={one}>
          {words}
        </option>
      ))}
    </SelectField>
  );
};
