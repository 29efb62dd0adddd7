/** Filters of a plan: by action, by address, and the groups of its list. */

import { Button } from '../../components/button.tsx';
import { Input, SelectField } from '../../components/fields.tsx';
import styles from './change-filters.module.css';
import { KIND_WORDS } from './changed-thing.tsx';
import { CHANGE_KINDS, type ChangeKind, type ResourceChange } from './planned-changes.ts';

export interface ChangeFilter {
  readonly kind: ChangeKind | 'all' | 'outputs' | 'drift';
  /** Part of the address. */
  readonly text: string;
  readonly group: 'action' | 'module';
}

export const NO_FILTER: ChangeFilter = { kind: 'all', text: '', group: 'action' };

export const ChangeFilters = (props: {
  changes: readonly ResourceChange[];
  outputs: number;
  drift: number;
  filter: ChangeFilter;
  onFilter: (filter: ChangeFilter) => void;
}) => {
  const { changes, filter, onFilter } = props;
  const chips: readonly (readonly [ChangeFilter['kind'], string, number])[] = [
    ['all', 'All', changes.length + props.outputs],
    ...CHANGE_KINDS.map(
      (kind) =>
        [
          kind,
          KIND_WORDS[kind].filter,
          changes.filter((change) => change.kind === kind).length,
        ] as const,
    ),
    ['outputs', 'Outputs', props.outputs],
    ['drift', 'Drift', props.drift],
  ];
  return (
    <search className={styles['change-filters']} aria-label="Changes">
      <div className={styles['chips']}>
        {chips
          .filter(([kind, , count]) => count > 0 || kind === 'all')
          .map(([kind, title, count]) => (
            <Button
              key={kind}
              className={styles['chip']}
              aria-pressed={filter.kind === kind}
              onClick={() => onFilter({ ...filter, kind })}
            >
              {title} <span>{count.toLocaleString()}</span>
            </Button>
          ))}
      </div>
      {changes.length > 1 && (
        <div className={styles['search']}>
          <Input
            type="search"
            aria-label="Part of the address"
            placeholder="Search by address"
            value={filter.text}
            onChange={({ target }) => onFilter({ ...filter, text: target.value })}
          />
          <SelectField
            aria-label="Grouped by"
            value={filter.group}
            onChange={({ target }) =>
              onFilter({ ...filter, group: target.value === 'module' ? 'module' : 'action' })
            }
          >
            <option value="action">by action</option>
            <option value="module">by module</option>
          </SelectField>
        </div>
      )}
    </search>
  );
};
