/** A button that opens a menu of further actions, each of which is confirmed in a dialog. */
import { Menu, MenuButton, MenuItem, MenuProvider } from '@ariakit/react/menu';
import { useState } from 'react';
import { ActionDialog, type ConfirmedAction } from './action-button.tsx';
import styles from './action-menu.module.css';
import { Button } from './button.tsx';
import { classes } from './classes.ts';

export interface MenuAction extends ConfirmedAction {
  readonly label: string;
}

/** @param props.name accessible name of the button: "More actions: ada" */
export const ActionMenu = (props: { name: string; actions: readonly MenuAction[] }) => {
  const { name, actions } = props;
  const [opened, setOpened] = useState<string>();
  return (
    <>
      <MenuProvider placement="bottom-end">
        <MenuButton render={<Button look="small" aria-label={name} />}>More</MenuButton>
        <Menu className={styles['menu']} gutter={4} aria-label={name}>
          {actions.map(({ label, tone }) => (
            <MenuItem
              key={label}
              className={classes(styles['item'], tone === 'danger' && styles['danger'])}
              onClick={() => setOpened(label)}
            >
              {label}
            </MenuItem>
          ))}
        </Menu>
      </MenuProvider>
      {actions.map(({ label, ...action }) => (
        <ActionDialog
          key={label}
          {...action}
          isOpen={opened === label}
          onClose={() => setOpened(undefined)}
        />
      ))}
    </>
  );
};
