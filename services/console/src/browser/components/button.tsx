/** A button in one of its looks. */
import type { ComponentProps } from 'react';
import styles from './button.module.css';
import { classes } from './classes.ts';

const LOOKS = {
  primary: styles['primary'],
  danger: styles['danger'],
  plain: styles['plain'],
  link: styles['link'],
  small: styles['small'],
  'small danger': classes(styles['small'], styles['danger']),
  'small plain': classes(styles['small'], styles['plain']),
} as const;

export type ButtonLook = keyof typeof LOOKS;

/** The classes of a button, for parts that draw the element themselves. */
export const buttonClass = (look?: ButtonLook, more?: string): string | undefined =>
  classes(styles['button'], look && LOOKS[look], more);

export const Button = ({
  look,
  className,
  type = 'button',
  ...rest
}: Omit<ComponentProps<'button'>, 'type'> & {
  look?: ButtonLook | undefined;
  type?: 'button' | 'submit';
}) => <button {...rest} type={type} className={buttonClass(look, className)} />;
