/** Variables of a workspace or of a variable set, with their forms. */
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type Resource } from '../api/workspaces-api.ts';
import { ActionButton, type Fields } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { FormActions, Input, Label, TextArea } from '../components/fields.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { Select } from '../components/select.tsx';
import { Choice } from '../editing/choice.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { workspaceTarget } from '../editing/edit-target.ts';
import { nameAndValueColumns } from './variable-columns.tsx';

type Variable = ResourceAttributes['vars'];

const bodyOf = (fields: Fields): object => ({
  data: {
    type: 'vars',
    attributes: {
      key: fields.text('key'),
      value: fields.text('value'),
      description: fields.text('description'),
      category: fields.text('category'),
      hcl: fields.isChecked('hcl'),
      sensitive: fields.isChecked('sensitive'),
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

const valuesOf = ({ attributes }: Pick<Resource<Variable>, 'attributes'>) => ({
  key: attributes.key,
  value: attributes.value ?? '',
  emptied: false,
  description: attributes.description ?? '',
  category: attributes.category as string,
  hcl: attributes.hcl,
  sensitive: attributes.sensitive,
});

type Values = ReturnType<typeof valuesOf>;

const NEW_VARIABLE: Values = {
  key: '',
  value: '',
  emptied: false,
  description: '',
  category: 'terraform',
  hcl: false,
  sensitive: false,
};

/** Only what was changed: the value of a sensitive variable is not known here, and stays unless another one is given. */
const changedBody = ({ emptied, ...changed }: Partial<Values>): object => {
  if (emptied === true && changed.value !== undefined && changed.value !== '')
    throw new Error('Enter a new value, or set it to the empty text, but not both.');
  return { attributes: { ...changed, ...(emptied === true && { value: '' }) } };
};

/** @param props.isSecret whether there is a value that is not shown */
const VariableFields = ({ values, isSecret }: { values: Values; isSecret: boolean }) => (
  <>
    <Label>
      Name
      <Input name="key" required autoComplete="off" defaultValue={values.key} />
    </Label>
    <Label>
      Value{isSecret && ' (is not shown; stays unless a new one is entered)'}
      <TextArea name="value" rows={2} defaultValue={values.value} />
    </Label>
    {isSecret && (
      <Choice name="emptied" isTicked={values.emptied}>
        Set it to the empty text
      </Choice>
    )}
    <Label>
      Description (optional)
      <Input name="description" autoComplete="off" defaultValue={values.description} />
    </Label>
    <Label>
      Kind
      <Select name="category" value={values.category} options={Object.entries(CATEGORIES)} />
    </Label>
    <Choice name="hcl" isTicked={values.hcl}>
      HCL: the value is an expression
    </Choice>
    <Choice name="sensitive" isTicked={values.sensitive} isDisabled={isSecret}>
      Sensitive: never shown again
    </Choice>
  </>
);

const EditVariable = (props: { path: string; variable: Variable }) => (
  <EditButton
    edits="variable"
    label="Edit"
    name={`Edit ${props.variable.key}`}
    look="small"
    title={`Edit ${props.variable.key}`}
    target={workspaceTarget<Variable>(props.path, 'vars')}
    valuesOf={valuesOf}
    bodyOf={changedBody}
    fields={(values, { attributes }) => (
      <VariableFields values={values} isSecret={attributes.sensitive} />
    )}
  />
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
        <FormActions>
          <ActionButton
            label="Add variable"
            title={`Add a variable to ${owner}`}
            confirm="Add"
            tone="primary"
            act={(fields) => callWorkspaces('POST', path, { body: bodyOf(fields) })}
            commands={[workspacesCurl('POST', path, EXAMPLE)]}
          >
            <VariableFields values={NEW_VARIABLE} isSecret={false} />
          </ActionButton>
        </FormActions>
      )}
      <PagedList<Variable>
        name={`variables-of-${owner}`}
        path={path}
        empty="No variable is set here."
      >
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
