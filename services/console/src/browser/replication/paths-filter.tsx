/** The filter by which a primary withholds paths from one of its performance secondaries. */
import { useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { rootCurl, rootVaultCommand } from '../components/commands.tsx';
import { Input, Label } from '../components/fields.tsx';
import { Select } from '../components/select.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { secretTarget } from '../editing/edit-target.ts';
import { ROOT } from './role-change.tsx';

/** The filter of a secondary, below `/v1/`. */
export const filterPath = (id: string): string =>
  `sys/replication/performance/primary/paths-filter/${encodeURIComponent(id)}`;

interface Filter {
  readonly mode: string;
  readonly paths: readonly string[];
}

const NO_FILTER: Filter = { mode: 'deny', paths: [] };

const MODES = [
  ['deny', 'everything but these paths'],
  ['allow', 'these paths only'],
] as const;

const valuesOf = ({ mode, paths }: Filter) => ({ mode, paths: paths.join(',') });

/** A POST replaces the whole filter. */
const changedFilter = (changed: Partial<ReturnType<typeof valuesOf>>, newest: Filter): object => {
  const filter = { ...valuesOf(newest), ...changed };
  if (filter.paths.trim() === '')
    throw new Error('Enter a path. To give the secondary everything, remove the filter.');
  return filter;
};

/** Removing a filter is not the same as emptying its paths, so it has a button of its own. */
const RemoveFilter = ({ id, path }: { id: string; path: string }) => (
  <ActionButton
    label={`Remove the filter of ${id}`}
    tone="danger"
    title={`Remove the paths filter of ${id}?`}
    confirm="Remove it"
    typed={id}
    act={() => callSecrets('DELETE', path, ROOT)}
    commands={[rootCurl('DELETE', path), rootVaultCommand(`vault delete ${path}`)]}
  >
    <p>
      The secondary gets everything that this cluster replicates,{' '}
      <strong>keys and secrets included</strong>.
    </p>
  </ActionButton>
);

export const PathsFilter = ({ id, path }: { id: string; path: string }) => {
  const { data } = useSecret<Filter>(path, ROOT);
  return (
    <>
      <EditButton
        edits="paths-filter"
        label={`Filter paths of ${id}`}
        title={`Filter the paths of ${id}`}
        target={secretTarget<Filter>(path, { absent: NO_FILTER, isInRoot: true })}
        valuesOf={valuesOf}
        bodyOf={changedFilter}
        fields={(values) => (
          <>
            <p>
              What is filtered from now on is also <strong>removed from the secondary</strong>. Were
              it promoted, it would not have it.
            </p>
            <Label>
              Rule
              <Select name="mode" value={values.mode} options={MODES} />
            </Label>
            <Label>
              Paths of mounts and namespaces, separated by commas
              <Input
                name="paths"
                autoComplete="off"
                placeholder="pki/,team/"
                defaultValue={values.paths}
              />
            </Label>
          </>
        )}
        commands={() => [rootVaultCommand(`vault write ${path} mode=deny paths=pki/,team/`)]}
      />
      {data && <RemoveFilter id={id} path={path} />}
    </>
  );
};
