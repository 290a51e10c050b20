/** What is said of an error, and how to mend it. */
export interface Texts {
  readonly message: string
  readonly fix: string
}

/** A part of the catalogue: the texts of codes, with placeholders. */
export type CodeTexts<Code extends string = string> = Readonly<Record<Code, Texts>>
