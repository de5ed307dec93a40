//===- BlockscaleFields.td - attributes of many fields -----*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An attribute whose fields are listed once: the parameters, a struct `Fields`
// of them all with names for C++, and what goes from one to the other come from
// the list.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEFIELDS_TD
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEFIELDS_TD

include "blockscale/Dialect/Blockscale/IR/BlockscaleDialect.td"
include "mlir/IR/AttrTypeBase.td"

/// A field that prints as `textName` and is `cppName` in C++.
class Blockscale_Field<string textName, string cppName,
                       AttrOrTypeParameter parameterType,
                       string initialValue = ""> {
  string text = textName;
  string name = cppName;
  AttrOrTypeParameter parameter = parameterType;
  string initial = initialValue;
  string getter = "get" # !toupper(!substr(cppName, 0, 1)) #
                  !substr(cppName, 1);
}

/// A field without a default.
class Blockscale_RequiredField<string textName, string cppName, string type>
    : Blockscale_Field<textName, cppName, AttrParameter<type, "">, "required">;

/// A count of which 0 means that nothing is chosen, or another default.
class Blockscale_CountField<string textName, string cppName,
                            string default = "0">
    : Blockscale_Field<textName, cppName,
                       DefaultValuedParameter<"int64_t", default>, default>;

class Blockscale_FlagField<string textName, string cppName>
    : Blockscale_Field<textName, cppName,
                       DefaultValuedParameter<"bool", "false">, "false">;

class Blockscale_FieldsAttr<string className,
                            list<Blockscale_Field> fieldList>
    : AttrDef<Blockscale_Dialect, className> {
  list<Blockscale_Field> fields = fieldList;
  let parameters = !dag(ins, !foreach(each, fields, each.parameter),
                        !foreach(each, fields, each.text));

  /// What subclasses declare besides.
  code moreDeclarations = "";
  defvar names = !foreach(each, fields, each.name);
  let extraClassDeclaration = [{
    /// All fields by name, to set some of them.
    struct Fields {
  }] # !foldl("", fields, sum, each, sum # "  " #
       each.parameter.cppType # " " # each.name #
       !cond(!eq(each.initial, "required"): "",
             !empty(each.initial): " = {}",
             true: " = " # each.initial) # ";\n") # [{
    };
    Fields getFields() const {
      return {}] # !interleave(!foreach(each, fields, each.getter # "()"),
                               ", ") # [{};
    }
    static }] # className # [{Attr get(::mlir::MLIRContext *context,
                                       const Fields &fields) {
      return get(context, }] #
        !interleave(!foreach(each, fields, "fields." # each.name), ", ") # [{);
    }
    /// The same attribute but for one field.
    template <typename T, typename V>
    }] # className # [{Attr with(T Fields::*field, V value) const {
      Fields fields = getFields();
      fields.*field = value;
      return get(getContext(), fields);
    }
  }] # moreDeclarations;
}

/// The same with a verifier of the fields,
/// `static LogicalResult verifyFields(emitError, const Fields &)`.
class Blockscale_CheckedFieldsAttr<string className,
                                   list<Blockscale_Field> fieldList>
    : Blockscale_FieldsAttr<className, fieldList> {
  let genVerifyDecl = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify(
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
        }] # !interleave(!foreach(each, fields, each.parameter.cppType # " " #
                                  each.name), ", ") # [{) {
      return verifyFields(emitError, {}] #
        !interleave(!foreach(each, fields, each.name), ", ") # [{});
    }
  }];
}

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEFIELDS_TD
