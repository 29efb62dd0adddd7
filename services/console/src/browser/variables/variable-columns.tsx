/** Columns that every table of variables begins with. */
import type { Resource } from '../api/workspaces-api.ts';
import type { Column } from '../components/data-table.tsx';

/** A variable as tables show it. */
export interface ShownVariable {
  readonly key: string;
  /** Null if the variable is sensitive. */
  readonly value: string | null;
  readonly sensitive: boolean;
}

export const nameAndValueColumns: readonly Column<Resource<ShownVariable>>[] = [
  {
    title: 'Name',
    isName: true,
    cell: ({ attributes }) => <code>{attributes.key}</code>,
  },
  {
    title: 'Value',
    cell: ({ attributes: { sensitive, value } }) =>
      sensitive ? <em>sensitive</em> : <code>{value}</code>,
  },
];
