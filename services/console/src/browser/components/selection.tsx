/** Rows of a table that a person has selected, and the bar with what can be done with all of them. */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { counted } from './format.ts';
import styles from './selection.module.css';
import { Unseen } from './text.tsx';

export interface Selection<Row> {
  /** The selected rows by key; some may be on other pages of the list. */
  readonly chosen: ReadonlyMap<string, Row>;
  readonly onChange: (chosen: ReadonlyMap<string, Row>) => void;
  /** The name of a row, for the label of its checkbox. */
  readonly nameOf: (row: Row) => string;
}

/**
 * The selection of a list, which another filter empties, because nobody sees then what is selected.
 * @param filter the filters of the list in any form
 */
export const useSelection = <Row,>(
  filter: string,
  nameOf: (row: Row) => string,
): Selection<Row> => {
  const [kept, setKept] = useState<{ filter: string; chosen: ReadonlyMap<string, Row> }>({
    filter,
    chosen: new Map(),
  });
  return {
    chosen: kept.filter === filter ? kept.chosen : new Map<string, Row>(),
    onChange: (chosen) => setKept({ filter, chosen }),
    nameOf,
  };
};

/** Selects one row. */
export const RowCheckbox = <Row,>(props: { row: Row; id: string; selection: Selection<Row> }) => {
  const { row, id, selection } = props;
  const { chosen, onChange, nameOf } = selection;
  const toggle = (): void => {
    const next = new Map(chosen);
    if (!next.delete(id)) next.set(id, row);
    onChange(next);
  };
  return (
    <input
      type="checkbox"
      className={styles['box']}
      aria-label={`Select ${nameOf(row)}`}
      checked={chosen.has(id)}
      onChange={toggle}
    />
  );
};

/** Selects all rows of the page, or none of them. */
export const PageCheckbox = <Row,>(props: {
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  selection: Selection<Row>;
}) => {
  const { rows, keyOf, selection } = props;
  const { chosen, onChange } = selection;
  const count = rows.filter((row) => chosen.has(keyOf(row))).length;
  const isWhole = count === rows.length && count > 0;
  const toggle = (): void => {
    const next = new Map(chosen);
    for (const row of rows)
      if (isWhole) next.delete(keyOf(row));
      else next.set(keyOf(row), row);
    onChange(next);
  };
  return (
    <input
      ref={(box) => {
        if (box !== null) box.indeterminate = count > 0 && !isWhole;
      }}
      type="checkbox"
      className={styles['box']}
      aria-label="Select all of this page"
      checked={isWhole}
      onChange={toggle}
    />
  );
};

/** The number of selected rows and their actions; it stays in view while something is selected. */
export const SelectionBar = (props: {
  count: number;
  /** "workspace" */
  noun: string;
  onClear: () => void;
  children: ReactNode;
}) => {
  const { count, noun, onClear, children } = props;
  const words = count === 0 ? '' : `${counted(count, noun)} selected`;
  const former = useRef(count);
  useEffect(() => {
    // The button that emptied the selection has gone, and the keyboard goes on from the beginning of the page.
    if (count === 0 && former.current > 0 && document.activeElement === document.body)
      document.getElementById('content')?.focus({ preventScroll: true });
    former.current = count;
  }, [count]);
  return (
    <>
      <Unseen role="status" aria-label="Selection">
        {words}
      </Unseen>
      {count > 0 && (
        <section className={styles['bar']} aria-label="Selected">
          <strong aria-hidden="true">{words}</strong>
          {children}
          <Button look="plain" onClick={onClear}>
            Clear selection
          </Button>
        </section>
      )}
    </>
  );
};
