/** Headings, and the parts of a text that look different from it. */
import type { ComponentProps } from 'react';
import { classes } from './classes.ts';
import styles from './text.module.css';

/** The heading of a page. */
export const PageHeading = ({ className, children, ...rest }: ComponentProps<'h1'>) => (
  <h1 {...rest} className={classes(styles['page-heading'], className)}>
    {children}
  </h1>
);

/** The heading of a card. */
export const CardHeading = ({ className, children, ...rest }: ComponentProps<'h2'>) => (
  <h2 {...rest} className={classes(styles['card-heading'], className)}>
    {children}
  </h2>
);

/** The heading of a part of a card. */
export const PartHeading = ({ className, children, ...rest }: ComponentProps<'h3'>) => (
  <h3 {...rest} className={classes(styles['part-heading'], className)}>
    {children}
  </h3>
);

/** A name or a value as programs know it; `isSmall` for long ones in a table. */
export const Code = ({
  isSmall = false,
  className,
  ...rest
}: ComponentProps<'code'> & { isSmall?: boolean }) => (
  <code {...rest} className={classes(styles['code'], isSmall && styles['tiny'], className)} />
);

/** Lines as programs know them. */
export const Lines = ({ className, ...rest }: ComponentProps<'pre'>) => (
  <pre {...rest} className={classes(styles['lines'], className)} />
);

/** A key of the keyboard. */
export const Key = ({ className, ...rest }: ComponentProps<'kbd'>) => (
  <kbd {...rest} className={classes(styles['key'], className)} />
);

/** Words of less weight within a line. */
export const Small = ({ className, ...rest }: ComponentProps<'small'>) => (
  <small {...rest} className={classes(styles['hint'], className)} />
);

/** Words of less weight in a line of their own, below what they say more about. */
export const Under = ({ className, ...rest }: ComponentProps<'small'>) => (
  <small {...rest} className={classes(styles['hint'], styles['under'], className)} />
);

/** A paragraph that explains what stands near it. */
export const Hint = ({ className, ...rest }: ComponentProps<'p'>) => (
  <p {...rest} className={classes(styles['hint'], className)} />
);

/** Words for screen readers alone. */
export const Unseen = ({ className, ...rest }: ComponentProps<'span'>) => (
  <span {...rest} className={classes(styles['unseen'], className)} />
);
