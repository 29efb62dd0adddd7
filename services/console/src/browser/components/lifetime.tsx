import type { ReactNode } from 'react';
import { DURATION, DURATION_WORDS } from './duration.ts';
import { Input, Label } from './fields.tsx';

/** A field for a duration. */
export const Lifetime = (props: {
  name: string;
  value: string;
  required?: boolean;
  label: ReactNode;
}) => (
  <Label>
    {props.label}
    <Input
      name={props.name}
      required={props.required ?? false}
      autoComplete="off"
      defaultValue={props.value}
      pattern={DURATION}
      title={DURATION_WORDS}
    />
  </Label>
);
