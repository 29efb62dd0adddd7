/** Selects one of an organization's agent pools. */
import { useDocument } from '../api/queries.ts';
import type { ListDocument } from '../api/workspaces-api.ts';
import { Select } from '../components/select.tsx';

export const AgentPoolSelect = (props: {
  organization: string;
  name: string;
  /** Id of the pool that is selected at first. */
  selected?: string;
  /** Text of the choice without a pool; undefined when a pool is required. */
  none?: string;
}) => {
  const { data } = useDocument<ListDocument<{ name: string }>>(
    `organizations/${encodeURIComponent(props.organization)}/agent-pools?page[size]=100`,
  );
  return (
    <Select
      name={props.name}
      required={props.none === undefined}
      value={props.selected ?? ''}
      options={[
        ...(props.none === undefined ? [] : [['', props.none] as const]),
        ...(data?.data ?? []).map(({ id, attributes }) => [id, attributes.name] as const),
      ]}
    />
  );
};
