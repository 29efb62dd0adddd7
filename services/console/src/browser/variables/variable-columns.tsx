/** Columns that every table of variables begins with. */
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import type { Resource } from '../api/workspaces-api.ts';
import type { Column } from '../components/data-table.tsx';
import { Code } from '../components/text.tsx';

/** A variable as tables show it. */
export type ShownVariable = Pick<ResourceAttributes['vars'], 'key' | 'value' | 'sensitive'>;

export const nameAndValueColumns: readonly Column<Resource<ShownVariable>>[] = [
  {
    title: 'Name',
    isName: true,
    cell: ({ attributes }) => <Code>{attributes.key}</Code>,
  },
  {
    title: 'Value',
    cell: ({ attributes: { sensitive, value } }) =>
      sensitive ? <em>sensitive</em> : <Code>{value}</Code>,
  },
];
