/** A checkbox of a form, with its words and the fault that the server has found in it. */
import type { ReactNode } from 'react';
import { ChoiceLabel } from '../components/fields.tsx';
import { Fault } from './faults.tsx';

export const Choice = (props: {
  name: string;
  /** Whether it is ticked when the form is drawn. */
  isTicked: boolean | undefined;
  isDisabled?: boolean;
  children: ReactNode;
}) => (
  <ChoiceLabel>
    <input
      type="checkbox"
      name={props.name}
      defaultChecked={props.isTicked}
      disabled={props.isDisabled}
    />{' '}
    {props.children}
    <Fault of={props.name} />
  </ChoiceLabel>
);
