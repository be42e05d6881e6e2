-- `reported.NAME` also finds values that the owner's value of the same name hides from the bare name.
CREATE INDEX device_attribute_shadowed ON device_attribute (owner_no, name, sort_key) WHERE shadowed = 1;
