/** Variables of a workspace or of a variable set, with their forms. */
import { callWorkspaces, type Resource } from '../api/workspaces-api.ts';
import { ActionButton, type Fields } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { nameAndValueColumns, type ShownVariable } from './variable-columns.tsx';

interface Variable extends ShownVariable {
  readonly description: string | null;
  readonly category: 'terraform' | 'env';
  readonly hcl: boolean;
}

const bodyOf = (fields: Fields, isSensitive = fields.isChecked('sensitive')): object => ({
  data: {
    type: 'vars',
    attributes: {
      key: fields.text('key'),
      value: fields.text('value'),
      description: fields.text('description'),
      category: fields.text('category'),
      hcl: fields.isChecked('hcl'),
      sensitive: isSensitive,
    },
  },
});

const EXAMPLE = {
  data: {
    type: 'vars',
    attributes: { key: 'region', value: '…', category: 'terraform', sensitive: false },
  },
};

const CATEGORIES = { terraform: 'of the configuration', env: 'of the environment' } as const;

const VariableFields = ({ variable }: { variable?: Variable }) => (
  <>
    <label>
      Name
      <input name="key" required autoComplete="off" defaultValue={variable?.key} />
    </label>
    <label>
      Value{variable?.sensitive === true && ' (is not shown; a new one replaces it)'}
      <textarea name="value" rows={2} defaultValue={variable?.value ?? ''} />
    </label>
    <label>
      Description (optional)
      <input name="description" autoComplete="off" defaultValue={variable?.description ?? ''} />
    </label>
    <label>
      Kind
      <select name="category" defaultValue={variable?.category ?? 'terraform'}>
        {Object.entries(CATEGORIES).map(([category, words]) => (
          <option key={category} value={category}>
            {words}
          </option>
        ))}
      </select>
    </label>
    <label className="choice">
      <input type="checkbox" name="hcl" defaultChecked={variable?.hcl} /> The value is an expression
    </label>
    <label className="choice">
      <input
        type="checkbox"
        name="sensitive"
        defaultChecked={variable?.sensitive}
        disabled={variable?.sensitive === true}
      />{' '}
      Sensitive: never shown again
    </label>
  </>
);

const EditVariable = (props: { path: string; variable: Variable }) => (
  <ActionButton
    label="Edit"
    name={`Edit ${props.variable.key}`}
    className="small"
    title={`Edit ${props.variable.key}`}
    confirm="Save"
    commands={[workspacesCurl('PATCH', props.path, EXAMPLE)]}
    act={(fields) => {
      // A disabled checkbox is not submitted; a sensitive variable stays sensitive.
      const isSensitive = props.variable.sensitive || fields.isChecked('sensitive');
      return callWorkspaces('PATCH', props.path, { body: bodyOf(fields, isSensitive) });
    }}
  >
    <VariableFields variable={props.variable} />
  </ActionButton>
);

export const VariableList = (props: {
  /** Below `/api/v2/`. */
  path: string;
  /** Name of the workspace or of the set. */
  owner: string;
  mayChange: boolean;
}) => {
  const { path, owner, mayChange } = props;
  return (
    <>
      {mayChange && (
        <div className="form-actions">
          <ActionButton
            label="Add variable"
            title={`Add a variable to ${owner}`}
            confirm="Add"
            tone="primary"
            act={(fields) => callWorkspaces('POST', path, { body: bodyOf(fields) })}
            commands={[workspacesCurl('POST', path, EXAMPLE)]}
          >
            <VariableFields />
          </ActionButton>
        </div>
      )}
      <PagedList<Variable> path={path} empty="No variable is set here.">
        {({ data }) => (
          <DataTable
            label="Variables"
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              ...nameAndValueColumns,
              { title: 'Kind', cell: ({ attributes }) => CATEGORIES[attributes.category] },
              { title: 'Description', cell: ({ attributes }) => attributes.description || '–' },
              ...(mayChange
                ? [
                    {
                      title: 'Actions',
                      isActions: true,
                      cell: ({ id, attributes }: Resource<Variable>) => (
                        <>
                          <EditVariable path={`${path}/${id}`} variable={attributes} />
                          <DeleteButton
                            what={`the variable ${attributes.key}`}
                            name={`Delete ${attributes.key}`}
                            path={`${path}/${id}`}
                          >
                            Runs from now on do without it. Its value cannot be brought back.
                          </DeleteButton>
                        </>
                      ),
                    },
                  ]
                : []),
            ]}
          />
        )}
      </PagedList>
      <Commands commands={[workspacesCurl('GET', path)]} />
    </>
  );
};
