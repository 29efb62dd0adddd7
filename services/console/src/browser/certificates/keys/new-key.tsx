/** Buttons that add a key to an authority: one that the engine makes, or one that exists elsewhere. */
import { useState } from 'react';
import { useCapabilities } from '../../api/queries.ts';
import { callSecrets } from '../../api/secrets-api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { secretsCurl, vaultCommand } from '../../components/commands.tsx';
import { FormActions, Input, Label, Pair, TextArea } from '../../components/fields.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { Choice } from '../../editing/choice.tsx';
import { Download } from '../download.tsx';
import { KeyKindField, keyParameters } from './key-kinds.tsx';

interface NewKey {
  readonly key_id: string;
  readonly key_name: string;
  /** Only of a key that is given out. */
  readonly private_key?: string;
}

const NAME = '[A-Za-z0-9_\\-.]*';

const NameField = () => (
  <Label>
    Name (optional)
    <Input name="key_name" autoComplete="off" pattern={NAME} />
  </Label>
);

const GenerateKey = (props: {
  mount: string;
  mayKeep: boolean;
  mayGiveOut: boolean;
  onMade: (key: NewKey) => void;
}) => {
  const { mount, mayKeep, mayGiveOut } = props;
  const path = (isGivenOut: boolean): string =>
    `${mount}/keys/generate/${isGivenOut ? 'exported' : 'internal'}`;
  const example = { key_name: 'next', key_type: 'ec', key_bits: 256 };
  return (
    <ActionButton
      label="Generate a key"
      title="Generate a key"
      confirm="Generate"
      tone="primary"
      act={async ({ text, isChecked }) => {
        const isGivenOut = !mayKeep || isChecked('is_given_out');
        const { data } = await callSecrets<{ data: NewKey }>('POST', path(isGivenOut), {
          body: { key_name: text('key_name'), ...keyParameters(text('key')) },
        });
        props.onMade(data);
      }}
      commands={[
        secretsCurl('POST', path(!mayKeep), example),
        vaultCommand(`vault write ${path(!mayKeep)} key_name=next key_type=ec key_bits=256`),
      ]}
    >
      <p>
        A key is of use once an issuer has a certificate for it. Until then nothing is signed by it.
      </p>
      <Pair>
        <NameField />
        <KeyKindField />
      </Pair>
      {mayKeep && mayGiveOut && (
        <Choice name="is_given_out" isTicked={false}>
          Show the private key once: whoever has it can issue in the name of the authority
        </Choice>
      )}
      {!mayKeep && <p>The private key is shown once, as this token may make no other kind.</p>}
    </ActionButton>
  );
};

const ImportKey = ({ mount }: { mount: string }) => {
  const path = `${mount}/keys/import`;
  return (
    <ActionButton
      label="Import a key"
      title="Import a key"
      confirm="Import it"
      act={({ text }) =>
        callSecrets('POST', path, {
          body: { key_name: text('key_name'), pem_bundle: text('pem_bundle') },
        })
      }
      commands={[
        secretsCurl('POST', path, { key_name: 'moved', pem_bundle: '…' }),
        vaultCommand(`vault write ${path} key_name=moved pem_bundle=@key.pem`),
      ]}
    >
      <p>
        Issuers whose certificate is for this key can sign as soon as it is here. A key that is here
        already keeps its name.
      </p>
      <NameField />
      <Label>
        Private key in PEM, without a password
        <TextArea
          name="pem_bundle"
          isCode
          rows={6}
          required
          spellCheck={false}
          autoComplete="off"
        />
      </Label>
    </ActionButton>
  );
};

/** Both buttons, as far as the token may, and the private key that was given out. */
export const NewKey = ({ mount }: { mount: string }) => {
  const [made, setMade] = useState<NewKey>();
  const [internal, exported, imported] = [
    `${mount}/keys/generate/internal`,
    `${mount}/keys/generate/exported`,
    `${mount}/keys/import`,
  ];
  const may = useCapabilities([internal, exported, imported]);
  const [mayKeep, mayGiveOut] = [may(internal, 'update'), may(exported, 'update')];
  return (
    <>
      {made?.private_key !== undefined && (
        <>
          <ShownOnce what="the private key" secret={made.private_key} label="New private key">
            It is the key {made.key_name || made.key_id}.
          </ShownOnce>
          <FormActions>
            <Download
              name={`${made.key_name || made.key_id}-key.pem`}
              content={made.private_key}
              label="the private key"
            />
          </FormActions>
        </>
      )}
      <FormActions>
        {(mayKeep || mayGiveOut) && (
          <GenerateKey mount={mount} mayKeep={mayKeep} mayGiveOut={mayGiveOut} onMade={setMade} />
        )}
        {may(imported, 'update') && <ImportKey mount={mount} />}
      </FormActions>
    </>
  );
};
