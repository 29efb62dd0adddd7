/** A button that reads a thing as it is stored now, and opens a panel with the form that edits it. */
import { useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { Button, type ButtonLook } from '../components/button.tsx';
import { SidePanel } from '../components/modal.tsx';
import { Problem } from '../components/page.tsx';
import { type Edit, EditForm } from './edit-form.tsx';
import type { FieldValues } from './three-way.ts';

export interface EditButtonProps<Document, Values extends FieldValues>
  extends Edit<Document, Values> {
  readonly label: string;
  /** Accessible name for screen readers, which lack the visual context: "Edit the role web". */
  readonly name?: string;
  readonly title: string;
  readonly look?: ButtonLook;
  readonly onSaved?: (changed: Partial<Values>) => void;
}

type Opened<Document> = { readonly document: Document } | { readonly problem: string };

export const EditButton = <Document, Values extends FieldValues>(
  props: EditButtonProps<Document, Values>,
) => {
  const { label, name, title, look, onSaved, ...edit } = props;
  const [opened, setOpened] = useState<Opened<Document>>();
  const open = async (): Promise<void> => {
    try {
      setOpened({ document: await edit.target.read() });
    } catch (error) {
      setOpened({ problem: messageOf(error) });
    }
  };
  const close = (): void => setOpened(undefined);
  return (
    <>
      <Button look={look} aria-label={name} aria-haspopup="dialog" onClick={() => void open()}>
        {label}
      </Button>
      <SidePanel title={title} isOpen={opened !== undefined} onClose={close}>
        {opened !== undefined && 'problem' in opened && <Problem>{opened.problem}</Problem>}
        {opened !== undefined && 'document' in opened && (
          <EditForm
            {...edit}
            isInPanel
            document={opened.document}
            onSaved={(changed) => {
              close();
              onSaved?.(changed);
            }}
            actions={<Button onClick={close}>Cancel</Button>}
          />
        )}
      </SidePanel>
    </>
  );
};
