eval(params[:code]) # FIND eval_call
eval "puts #{name}" # FIND eval_call
object.instance_eval(text) # FIND eval_call
Name.class_eval "def a; #{body}; end" # FIND eval_call
data = Marshal.load(bytes) # FIND eval_call
self.class.instance_eval do
Name.class_eval { attr_reader :a }
object.instance_eval(&block)
# eval(params[:code])
