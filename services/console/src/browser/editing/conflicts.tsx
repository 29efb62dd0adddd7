/** The fields that somebody else has changed meanwhile, between which and one's own the person chooses. */

import { ChoiceLabel, FieldSet } from '../components/fields.tsx';
import { Code } from '../components/text.tsx';
import styles from './conflicts.module.css';
import { DECISION } from './form-values.ts';

export interface Conflict {
  readonly name: string;
  /** The label of the field. */
  readonly label: string;
  /** The value that is stored by now, and the person's own, as the form shows them. */
  readonly theirs: string;
  readonly mine: string;
}

/** The names of the fields that the person leaves as they are stored. */
export const decidedIn = (
  form: HTMLFormElement,
  conflicts: readonly Conflict[],
): readonly string[] => {
  const decisions = new FormData(form);
  return conflicts
    .map(({ name }) => name)
    .filter((name) => decisions.get(DECISION + name) === 'theirs');
};

export const Conflicts = ({ conflicts }: { conflicts: readonly Conflict[] }) =>
  conflicts.length === 0 ? null : (
    <FieldSet className={styles['conflicts']}>
      <legend>Changed by somebody else meanwhile</legend>
      <p role="alert">Nothing is stored yet. Choose which value stays.</p>
      {conflicts.map(({ name, label, theirs, mine }) => (
        <FieldSet key={`${name} ${theirs}`}>
          <legend>{label}</legend>
          {(
            [
              ['theirs', 'Theirs', theirs],
              ['mine', 'Yours', mine],
            ] as const
          ).map(([decision, words, value]) => (
            <ChoiceLabel key={decision}>
              <input type="radio" required name={DECISION + name} value={decision} /> {words}:{' '}
              <Code className={styles['value']}>{value}</Code>
            </ChoiceLabel>
          ))}
        </FieldSet>
      ))}
    </FieldSet>
  );
