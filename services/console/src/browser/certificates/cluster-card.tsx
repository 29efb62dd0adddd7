/** The addresses of an authority in this cluster, for ACME and for parts in double braces. */
import { mountAddress } from '../api/mount-address.ts';
import { useCapabilities, useSecret } from '../api/queries.ts';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { FactList } from '../components/fact-list.tsx';
import { FormActions, Input, Label } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card } from '../components/page.tsx';
import { Hint } from '../components/text.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { secretTarget } from '../editing/edit-target.ts';

interface ClusterConfig {
  readonly path: string;
  readonly aia_path: string;
}

export const ClusterCard = ({ mount }: { mount: string }) => {
  const path = `${mount}/config/cluster`;
  const query = useSecret<ClusterConfig>(path);
  const may = useCapabilities([path]);
  return (
    <Card title="Addresses of this cluster">
      <Hint>
        Each cluster of a replication has its own. ACME clients are sent to the first one; addresses
        in certificates can name both.
      </Hint>
      <Loaded query={query}>
        {(config) =>
          config !== null && (
            <FactList
              facts={[
                ['cluster_path', config.path || '–'],
                ['cluster_aia_path', config.aia_path || '–'],
              ]}
            />
          )
        }
      </Loaded>
      {may(path, 'update') && (
        <FormActions>
          <EditButton
            edits="cluster-addresses"
            label="Change the cluster's addresses"
            title="Addresses of the authority in this cluster"
            target={secretTarget<ClusterConfig>(path)}
            valuesOf={(config) => ({ path: config.path, aia_path: config.aia_path })}
            bodyOf={(changed) => changed}
            fields={(values) => (
              <>
                <p>
                  ACME accounts belong to their address: clients register again after a change of
                  the first one.
                </p>
                <Label>
                  For ACME clients
                  <Input
                    name="path"
                    type="url"
                    autoComplete="off"
                    placeholder={mountAddress(mount)}
                    defaultValue={values.path}
                  />
                </Label>
                <Label>
                  For whoever fetches certificates and lists
                  <Input
                    name="aia_path"
                    type="url"
                    autoComplete="off"
                    placeholder={mountAddress(mount)}
                    defaultValue={values.aia_path}
                  />
                </Label>
              </>
            )}
            commands={() => [vaultCommand(`vault write ${path} path=${mountAddress(mount)}`)]}
          />
        </FormActions>
      )}
      <Commands commands={[secretsCurl('GET', path), vaultCommand(`vault read ${path}`)]} />
    </Card>
  );
};
