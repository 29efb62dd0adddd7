/** A new authority: its mount and its first root, which are made together or not at all. */
import { useNavigate } from '@tanstack/react-router';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton, type Fields } from '../components/action-button.tsx';
import { secretsCurl, vaultCommand } from '../components/commands.tsx';
import { Details, Summary } from '../components/details.tsx';
import { Input, Label, Pair } from '../components/fields.tsx';
import { Lifetime } from '../components/lifetime.tsx';
import { KeyKindField, keyParameters } from './keys/key-kinds.tsx';

const USUAL_TTL = '87600h';

/** Optional texts of the form, which are the parameters of the request. */
const TEXTS = [
  ['organization', 'Organization'],
  ['ou', 'Unit'],
  ['country', 'Country, of two letters'],
  ['max_path_length', 'Authorities that may follow below each other'],
  ['permitted_dns_domains', 'Only for names below these domains, separated by commas'],
] as const;

const mountBody = (name: string, ttl: string): object => ({
  type: 'pki',
  description: name,
  config: { max_lease_ttl: ttl },
});

const rootBody = (fields: Fields): object => {
  return {
    common_name: fields.text('name'),
    ...keyParameters(fields.text('key')),
    ttl: fields.text('ttl'),
    ...Object.fromEntries(
      TEXTS.map(([name]) => [name, fields.text(name).trim()]).filter(([, text]) => text !== ''),
    ),
  };
};

/** A mount whose root was refused is of no use, and would be in the way of the next attempt. */
const createAuthority = async (path: string, fields: Fields): Promise<void> => {
  const mount = `sys/mounts/${path}`;
  await callSecrets('POST', mount, { body: mountBody(fields.text('name'), fields.text('ttl')) });
  try {
    await callSecrets('POST', `${path}/root/generate/internal`, { body: rootBody(fields) });
  } catch (error) {
    await callSecrets('DELETE', mount);
    throw error;
  }
};

export const CreateAuthority = () => {
  const navigate = useNavigate();
  const create = async (fields: Fields): Promise<void> => {
    const path = fields
      .text('path')
      .split('/')
      .filter((segment) => segment !== '')
      .join('/');
    await createAuthority(path, fields);
    await navigate({
      to: '/ui/certificates/$mount',
      params: { mount: path },
      search: { tab: 'roles' },
    });
  };
  return (
    <ActionButton
      label="Create authority"
      opensAt="create-authority"
      title="Create a certificate authority"
      confirm="Create"
      tone="primary"
      act={create}
      commands={[
        secretsCurl('POST', 'sys/mounts/pki', mountBody('NAME', USUAL_TTL)),
        secretsCurl('POST', 'pki/root/generate/internal', {
          common_name: 'NAME',
          key_type: 'ec',
          ttl: USUAL_TTL,
        }),
        vaultCommand('vault secrets enable -max-lease-ttl=87600h pki'),
        vaultCommand(
          'vault write pki/root/generate/internal common_name=NAME key_type=ec ttl=87600h',
        ),
      ]}
    >
      <p>An engine of its own with a root, whose key never leaves it.</p>
      <Pair>
        <Label>
          Path
          <Input
            name="path"
            required
            autoComplete="off"
            defaultValue="pki"
            pattern="[A-Za-z0-9_\-\/]+"
          />
        </Label>
        <Label>
          Name of the root
          <Input name="name" required autoComplete="off" placeholder="Example Root" />
        </Label>
        <KeyKindField />
        <Lifetime name="ttl" label="Valid for" value={USUAL_TTL} required />
      </Pair>
      <Details hasFields>
        <Summary>Subject and constraints</Summary>
        <Pair>
          {TEXTS.map(([name, label]) => (
            <Label key={name}>
              {label}
              <Input name={name} autoComplete="off" />
            </Label>
          ))}
        </Pair>
      </Details>
    </ActionButton>
  );
};
