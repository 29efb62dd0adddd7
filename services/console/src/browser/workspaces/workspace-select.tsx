import { useDocument } from '../api/queries.ts';
import { type ListDocument } from '../api/workspaces-api.ts';
import { Label, SelectField } from '../components/fields.tsx';

/** A field to select another workspace of the organization; its value is the workspace's id. */
export const WorkspaceSelect = (props: {
  organization: string;
  /** Ids that are excluded from the choice. */
  without: readonly string[];
  label: string;
}) => {
  const path = `organizations/${encodeURIComponent(props.organization)}/workspaces?page[size]=100`;
  const { data } = useDocument<ListDocument<{ name: string }>>(path);
  return (
    <Label>
      {props.label}
      <SelectField name="workspace" required>
        {data?.data
          .filter(({ id }) => !props.without.includes(id))
          .map(({ id, attributes }) => (
            <option key={id} value={id}>
              {attributes.name}
            </option>
          ))}
      </SelectField>
    </Label>
  );
};
