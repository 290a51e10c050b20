import { create, createFileRegistry } from '@bufbuild/protobuf'
import { isReflectMessage, type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect'
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema
} from '@bufbuild/protobuf/wkt'
import { present } from '../../core/index.js'

const amountFile = create(FileDescriptorProtoSchema, {
  name: 'tally/amount.proto',
  package: 'tally',
  syntax: 'proto3',
  messageType: [
    {
      name: 'Amount',
      field: [
        {
          name: 'atomic',
          jsonName: 'atomic',
          number: 1,
          type: FieldDescriptorProto_Type.STRING,
          label: FieldDescriptorProto_Label.OPTIONAL
        }
      ]
    }
  ]
})

/** Registry that knows the type `tally.Amount`. */
export const amountRegistry = createFileRegistry(amountFile, () => undefined)
/** The type of amounts: a message with one field, the decimal text of the atomic units. */
export const amountSchema = present(amountRegistry.getMessage('tally.Amount'), 'tally.Amount')
const amountField = present(amountSchema.fields[0], 'field of tally.Amount')

/** A CEL value that holds an amount. */
export function amountValue(value: bigint): ReflectMessage {
  const message = reflect(amountSchema)
  message.set(amountField, value.toString())
  return message
}

/** The amount in a CEL value, or undefined. */
export function amountOf(value: unknown): bigint | undefined {
  if (!isReflectMessage(value) || value.desc.typeName !== amountSchema.typeName) return undefined
  return BigInt(String(value.get(amountField)))
}
