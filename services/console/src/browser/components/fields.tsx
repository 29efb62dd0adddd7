/** Fields of a form: their labels, and what is typed, chosen or ticked in them. */
import type { ComponentProps } from 'react';
import { classes } from './classes.ts';
import styles from './fields.module.css';

/** The words of a field, around it. */
export const Label = ({ className, children, ...rest }: ComponentProps<'label'>) => (
  <label {...rest} className={classes(styles['label'], className)}>
    {children}
  </label>
);

/** The words of a checkbox or a radio button, around it. */
export const ChoiceLabel = ({ className, children, ...rest }: ComponentProps<'label'>) => (
  <label {...rest} className={classes(styles['label'], styles['choice'], className)}>
    {children}
  </label>
);

/** A field of one line, or of a file. */
export const Input = ({ className, ...rest }: ComponentProps<'input'>) => (
  <input
    {...rest}
    className={classes(styles['field'], rest.type !== 'file' && styles['line'], className)}
  />
);

/** A field of several lines; `isCode` for what programs read. */
export const TextArea = ({
  isCode = false,
  className,
  ...rest
}: ComponentProps<'textarea'> & { isCode?: boolean }) => (
  <textarea {...rest} className={classes(styles['field'], isCode && styles['code'], className)} />
);

/** A field of given options, which are its children. */
export const SelectField = ({ className, ...rest }: ComponentProps<'select'>) => (
  <select {...rest} className={classes(styles['field'], styles['line'], className)} />
);

/** Fields that belong together; `isExplained` where each choice has its effect after it, in a line of its own. */
export const FieldSet = ({
  isExplained = false,
  className,
  ...rest
}: ComponentProps<'fieldset'> & { isExplained?: boolean }) => (
  <fieldset
    {...rest}
    className={classes(styles['set'], isExplained && styles['explained'], className)}
  />
);

/** Two fields next to each other. */
export const Pair = ({ className, ...rest }: ComponentProps<'div'>) => (
  <div {...rest} className={classes(styles['pair'], className)} />
);

/** The buttons at the end of a form. */
export const FormActions = ({ className, ...rest }: ComponentProps<'div'>) => (
  <div {...rest} className={classes(styles['actions'], className)} />
);
