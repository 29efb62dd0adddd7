/** A resource or an output that changes: one line, and its values below when it is open. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Code, Hint, Lines } from '../../components/text.tsx';
import styles from './changed-thing.module.css';
import type { ChangeKind, ResourceChange } from './planned-changes.ts';
import type { ValueChange } from './value-changes.ts';

interface KindWords {
  readonly sign: string;
  /** Heading of a group of resources. */
  readonly heading: string;
  /** On the button that shows these alone. */
  readonly filter: string;
  /** Words after the address of a resource. */
  readonly resource: string;
  /** Words after the name of an output. */
  readonly output: string;
}

const words = (
  sign: string,
  heading: string,
  filter: string,
  resource: string,
  output = resource,
): KindWords => ({ sign, heading, filter, resource, output });

export const KIND_WORDS: Readonly<Record<ChangeKind, KindWords>> = {
  delete: words('−', 'Destroyed', 'Destroy', 'will be destroyed', 'will be removed'),
  replace: words('±', 'Replaced', 'Replace', 'must be replaced', 'will be set'),
  forget: words('⊘', 'Forgotten', 'Forget', 'leaves the state, and is not destroyed'),
  update: words('~', 'Changed', 'Change', 'will be changed', 'will be set'),
  create: words('+', 'Created', 'Create', 'will be created', 'will be set'),
  import: words('↓', 'Imported', 'Import', 'will be imported'),
  move: words('→', 'Moved', 'Move', 'has moved'),
  read: words('≤', 'Read during apply', 'Read', 'will be read during apply'),
  defer: words('○', 'Deferred', 'Deferred', 'waits for a later run'),
};

const Values = ({ values }: { values: readonly ValueChange[] }) => (
  <ul className={styles['values']}>
    {values.map(({ path, before, after, lines }) => (
      <li key={`${path} ${before === undefined}`} className={styles['value']}>
        <Code className={styles['path']}>{path}</Code>
        {lines === undefined ? (
          <>
            {before !== undefined && <del className={styles['before']}>{before}</del>}
            {before !== undefined && after !== undefined && <span aria-hidden="true"> → </span>}
            {after !== undefined && <ins className={styles['after']}>{after}</ins>}
          </>
        ) : (
          <Lines className={styles['lines']}>
            {lines.map(({ sign, text }, at) => {
              const line = `${sign} ${text}\n`;
              const key = `${at}`;
              if (sign === ' ') return line;
              return sign === '+' ? (
                <ins key={key} className={styles['after']}>
                  {line}
                </ins>
              ) : (
                <del key={key} className={styles['before']}>
                  {line}
                </del>
              );
            })}
          </Lines>
        )}
      </li>
    ))}
  </ul>
);

export type ShownChange = Pick<ResourceChange, 'address' | 'kind' | 'values'> &
  Partial<ResourceChange>;

/** @param props.isOpen if another part keeps it */
export const ChangedThing = (props: {
  change: ShownChange;
  words?: string;
  isOpen?: boolean;
  onToggle?: () => void;
}) => {
  const { address, kind, values, reason, formerAddress, importedAs } = props.change;
  const [isOpenHere, setOpenHere] = useState(false);
  const isOpen = props.isOpen ?? isOpenHere;
  const { sign, resource } = KIND_WORDS[kind];
  return (
    <div className={styles['changed-thing']} data-kind={kind}>
      <Button
        className={styles['head']}
        aria-expanded={isOpen}
        onClick={props.onToggle ?? (() => setOpenHere(!isOpen))}
      >
        <span className={styles['sign']} aria-hidden="true">
          {sign}
        </span>
        <Code>{address}</Code>{' '}
        <span className={styles['words']}>
          {props.words ?? resource}
          {reason !== undefined && `: ${reason}`}
          {formerAddress !== undefined && `, from ${formerAddress}`}
          {importedAs !== undefined && `, imported as ${importedAs}`}
        </span>
      </Button>
      {isOpen &&
        (values.length > 0 ? (
          <Values values={values} />
        ) : (
          <Hint className={styles['values']}>No value changes.</Hint>
        ))}
    </div>
  );
};
