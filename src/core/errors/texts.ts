/** What a part of the catalogue is made of: a message with placeholders, and how to mend it. */
export type CodeTexts = Readonly<Record<string, { readonly message: string; readonly fix: string }>>
