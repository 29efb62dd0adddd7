/** Selects one of an organization's agent pools. */
import { useDocument } from '../api/queries.ts';
import type { ListDocument } from '../api/workspaces-api.ts';

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
    <select
      name={props.name}
      required={props.none === undefined}
      key={data?.data.length ?? 0}
      defaultValue={props.selected ?? ''}
    >
      {props.none !== undefined && <option value="">{props.none}</option>}
      {data?.data.map(({ id, attributes }) => (
        <option key={id} value={id}>
          {attributes.name}
        </option>
      ))}
    </select>
  );
};
